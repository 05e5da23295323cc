package sluice

// Status is how far the work on a call has come.
type Status string

// How far the work can have come.
const (
	StatusProcessing Status = "processing" // it is not done yet
	StatusOK         Status = "ok"         // it is done, and Value is its result
	StatusError      Status = "error"      // it failed for good, and Error says why
)

// What traces and figures tell besides. Results keep to the words above: such a call is
// processing, or an error.
const (
	StatusRetrying  Status = "retrying"  // an attempt failed, and another one will come
	StatusRecovered Status = "recovered" // it failed for good, and a replay went well
	StatusPassed    Status = "passed"    // of a run: the pipeline did not want the event, and did not run
)

// StatusSuperseded is the status of a run that was not needed: another event ran in its place.
const StatusSuperseded Status = "superseded"

// StatusRejected is the status of a call that was rejected: it became no event.
const StatusRejected Status = "rejected"

// StatusHandshake is the status of a call by which a sender made sure that somebody
// listens. It made no event either.
const StatusHandshake Status = "handshake"

// failed is the word by which people know StatusError.
const failed = "failed"

// Word returns the status as pages and tables show it.
func (s Status) Word() string {
	if s == StatusError {
		return failed
	}
	return string(s)
}

// StatusOf returns the status that people or the API call by that word.
func StatusOf(word string) Status {
	if word == failed {
		return StatusError
	}
	return Status(word)
}

// StatusBefore returns the status of an accepted call before its listeners have
// done anything.
func StatusBefore(listeners []string) Status {
	if len(listeners) > 0 {
		return StatusProcessing
	}
	return StatusOK
}
