package limit

// Bounds on the credentials that callers send.
const (
	MinPassword = 8       // characters
	MaxPassword = 1 << 10 // bytes, since they are hashed
	MaxUsername = 256     // bytes, since they are counted and logged
)
