package jetstream

import (
	"log/slog"
	"time"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/seal"
)

// Options configure an engine.
type Options struct {
	Dir         string // folder of the embedded engine's store
	URL         string // external engine; empty means embedded
	Credentials string // file with credentials for the external engine
	Replicas    int    // of each stream on the external engine
	SyncsAlways bool   // the operator says that the external engine syncs each message

	SpoolDir      string // folder of the spool beside an external engine; "": no spool
	SpoolMaxBytes int64

	EventMaxAge   time.Duration
	EventMaxBytes int64 // 0: half of the volume (embedded), unlimited (external)
	MinFreeDisk   int64
	ResultTTL     time.Duration

	ResultMaxCount int64 // results that are kept
	ResultMaxBytes int64

	DeadLetterMaxBytes int64 // 0: stream.DeadLetterBytes

	// Box returns the cipher that seals records. If sealed is true, there are sealed
	// records, and only their key will do.
	Box func(sealed bool) (*seal.Box, error)

	SealEvents bool // new events, results, dead letters and what is known of runs

	RunMemory      int64 // bytes that the events of all runs take in memory; 0: no bound
	WaitingMemory  int64 // bytes that events which wait take in memory; 0: no bound
	RecordMemory   int64 // bytes of the records that users store; 0: any number
	DeliveryMemory int64 // bytes that delivery ids take in memory; 0: only their number is bounded

	AckWait time.Duration // how long an event may go without a sign of life before it is delivered again; 0: 4 seconds
	Version string        // of the program

	Sync SyncMode
	Log  *slog.Logger

	// ObserveEnd, if set, is called when all pipelines of a call are done with it.
	ObserveEnd func(sluice.CallEnd)

	// ObserveSent, if set, is told of each event that was stored and that no call set off.
	ObserveSent func(traceID string)

	// ObserveBatch, if set, returns a function to call for each batch of a stream that
	// was written and synced.
	ObserveBatch func(stream string) func(messages int, took time.Duration)
}

// syncs reports whether we sync writes to a stream of the embedded engine.
func (o Options) syncs(name string) bool {
	switch o.Sync {
	case GroupCommit:
		return true
	case NoResultSync:
		return name != stream.Results
	default:
		return false
	}
}

// SyncMode says who makes the embedded engine's writes durable. Only benchmarks and torture
// tests use another mode than GroupCommit.
type SyncMode int

// The sync modes.
const (
	GroupCommit  SyncMode = iota // one sync for all waiting calls
	EngineSync                   // the engine syncs each message by itself
	NoSync                       // nobody syncs: a power cut loses events
	NoResultSync                 // one sync for all waiting calls, none for results
)
