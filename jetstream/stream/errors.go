package stream

import (
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

// NoAnswer is the error of an engine that does not reply.
func NoAnswer(err error) error {
	return sluice.Passing(sluice.CodeEngineUnavailable, "The engine did not answer.").Because(err)
}

// hasFailed is the error of an engine that can't go on.
func (h *Host) hasFailed() error {
	if h.Reopened {
		return sluice.Passing(sluice.CodeEngineFailed, "It has failed and is being opened again.")
	}
	return sluice.Passing(sluice.CodeEngineFailed, "The engine failed and is about to restart.")
}

// WasConflict reports whether another write came first. Replicated streams report that with
// a code of their own.
func WasConflict(err error) bool {
	code := codeOf(err)
	return code == jetstream.JSErrCodeStreamWrongLastSequence ||
		code == jetstream.JSErrCodeStreamWrongLastSequenceConstant
}

// codeOf returns the code of an error of the engine, 0 if it is none.
func codeOf(err error) jetstream.ErrorCode {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return api.ErrorCode
	}
	return 0
}

// limits say what to do about the limits of an external engine, by the codes of its errors.
// The library names few of the codes.
var limits = map[jetstream.ErrorCode]string{
	jetstream.JSErrCodeMaximumConsumersLimit: "the engine's account takes no more consumers, and each pipeline that " +
		"listens needs one; raise its max_consumers, or delete a pipeline that listens",

	10005: "the engine has too few servers with enough storage for so many copies; raise max_file_store of its " +
		"servers, add servers, or lower --nats-replicas, --event-max-bytes or --result-max-bytes",
	10074: "the engine is no cluster and keeps one copy of everything; set --nats-replicas 1",
	10002: "the engine's account has used up its storage; raise its max_file",
	10027: "the engine's account takes no more streams; raise its max_streams to 40 or more",
	10047: "the engine's account has too little storage; raise its max_file, or lower --event-max-bytes and " +
		"--result-max-bytes",
	10121: "the engine's account takes fewer unfinished events of a consumer than eight times the pipeline's " +
		"concurrency; raise its max_ack_pending, or lower concurrency",
	10122: "the engine's account takes only smaller streams; raise its max_stream_bytes, or lower --event-max-bytes " +
		"and --result-max-bytes",
}

// LimitOf returns what to do about the limit of the engine that caused an error, "" if none
// did.
func LimitOf(err error) string { return limits[codeOf(err)] }

// NotTaken is the error of a write that the engine has not taken. A limit stays until the
// operator raises it, so trying again soon makes no sense.
func NotTaken(what string, err error) error {
	if limit := LimitOf(err); limit != "" {
		return sluice.CodeEngineLimit.Errorf("The engine did not take %s: %s.", what, limit).Because(err)
	}
	return sluice.Passing(sluice.CodeEngineUnavailable, "The engine did not take "+what+".").Because(err)
}
