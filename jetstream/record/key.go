package record

// A Key is a key that all nodes share.
type Key struct {
	Key []byte `json:"key"`
}

// CorrelationKey is the name of the key of the correlation ids.
const CorrelationKey = "correlation"
