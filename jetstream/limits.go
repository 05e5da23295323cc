package jetstream

import (
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

// limits are those that an external engine may have, by the codes of its
// errors, and what to do about each. The library names few of the codes.
var limits = map[jetstream.ErrorCode]string{
	jetstream.JSErrCodeMaximumConsumersLimit: "the engine's account takes no more consumers, and each pipeline that listens needs one; raise its max_consumers, or delete a pipeline that listens",

	10002: "the engine's account has used up its storage; raise its max_file",
	10027: "the engine's account takes no more streams; raise its max_streams to 20 or more",
	10047: "the engine's account has too little storage; raise its max_file, or lower --event-max-bytes and --result-max-bytes",
	10121: "the engine's account takes fewer unfinished events of a consumer than eight times the pipeline's concurrency; raise its max_ack_pending, or lower concurrency",
	10122: "the engine's account takes only smaller streams; raise its max_stream_bytes, or lower --event-max-bytes and --result-max-bytes",
}

// limitOf says which limit of the engine an error is about, "" if it is about
// none.
func limitOf(err error) string {
	api, ok := errors.AsType[*jetstream.APIError](err)
	if !ok {
		return ""
	}
	return limits[api.ErrorCode]
}

// notTaken is the error for what the engine has refused. A limit stays until
// somebody raises it, so to try again soon makes no sense.
func notTaken(what string, err error) error {
	if limit := limitOf(err); limit != "" {
		return sluice.Errorf(sluice.Unavailable, "engine-limit", "The engine did not take %s: %s.", what, limit).Because(err)
	}
	return unavailable("engine-unavailable", "The engine did not take "+what+".").Because(err)
}
