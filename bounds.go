package sluice

// How many pipelines run at the same time on one node. Six bounds apply, from the
// single pipeline to the whole node. An event passes them in this order:
//
//  1. Deliveries: the events of a pipeline that the engine has handed out and that
//     are not acknowledged, and as many waiting events. There are more of them than
//     runs, since an event keeps its delivery until its outcome is synced; so runs
//     never wait for the disk; and more still for a pipeline that may pass over some.
//  2. Idle goroutines (MaxIdleRunners). Each delivery has a goroutine, unless order
//     counts. One that is done waits for another delivery, with the stack it has
//     grown; beyond this number it ends.
//  3. Slots, a pipeline's concurrency: the runs of one pipeline at the same time. One
//     slot keeps the order of events. Retries and replays get half of the slots at
//     most. A pipeline's rate bounds how often a slot is taken. An event that waits for
//     another attempt takes none, unless order counts.
//  4. Bytes (MaxRunBytes): the stored size of the events that the runs of one pipeline
//     have decoded. Slots alone don't bound memory, since a decoded event takes up to
//     twenty times its size.
//  5. Memory of the node (max-run-memory): what the events of all pipelines take, stored
//     and decoded, and what runs make of them. An event waits for memory. A run that
//     finds none for what it makes ends, and its event is given back.
//  6. Slots of the node (max-runs): the runs of all pipelines together. The run of an
//     event waits for a slot, and keeps the slot and bytes of its pipeline. A run that
//     a user starts is refused.
const (
	DefaultConcurrency = 16
	MaxConcurrency     = 1000
	MaxIdleRunners     = 256
	MaxRunBytes        = 16 << 20
	DefaultMaxRuns     = 1024 // of a Runner without a setting; the server's setting has its own default
)
