package sluice

// How many runs of pipelines go on at once, on one node. Six bounds add up, from
// the single pipeline to the whole node; an event passes them in this order:
//
//  1. Deliveries: the events of a pipeline that the engine has handed out and
//     that are not acknowledged, and as many from the waiting room. More than run
//     at the same time, since an event whose run has ended still waits for its
//     outcome to be synced; so runs never wait for the disk. Events beyond this
//     stay where they are.
//  2. Idle goroutines (MaxIdleRunners): no bound on runs, but on what they leave
//     behind. Each delivery has a goroutine, unless order counts; one that is done
//     waits for another delivery with the stack it has grown, and beyond this
//     number it ends.
//  3. Slots, a pipeline's concurrency: the runs of one pipeline at the same time.
//     One keeps the order of events, and a pipeline that hangs takes no more than
//     its own. Retries and replays have half of them at most. A pipeline's rate
//     bounds how often one is taken. An event that waits for another attempt takes
//     none, unless the order counts.
//  4. Bytes (MaxRunBytes): the stored size of the events that the runs of one
//     pipeline have decoded. Slots alone don't bound memory, since a decoded event
//     takes up to twenty times its size.
//  5. Memory of the node (max-run-memory): what the events of all pipelines take,
//     as they are stored and as they are decoded, and what runs make of them. An
//     event waits for it; a run that finds none for what it makes ends, and its
//     event is given back.
//  6. Slots of the node (max-runs): the runs of all pipelines together, which
//     bounds the memory of the node. The run of an event that finds none waits for
//     one, with the slot and bytes of its pipeline held; one that a user starts is
//     refused.
//
// So a node holds at most Deliveries events of each pipeline from either source, runs
// at most its concurrency of them, and in all at most max-runs.
const (
	DefaultConcurrency = 16
	MaxConcurrency     = 1000
	MaxIdleRunners     = 256
	MaxRunBytes        = 16 << 20
	DefaultMaxRuns     = 1024 // of a Runner without a setting; the server's setting has its own default
)

// Deliveries is how many events of a pipeline are handed out at the same time;
// only one where order counts.
func Deliveries(concurrency int) int {
	if concurrency == 1 {
		return 1
	}
	return 8 * concurrency
}
