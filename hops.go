package sluice

import (
	"context"
	"strconv"
)

// MaxHops is how many events and pipelines may follow from each other. More count as a
// loop.
const MaxHops = 16

// NextHop returns the hops of what the run or the request of ctx sends or starts.
func NextHop(ctx context.Context) (hops int, err error) {
	if run := RunFrom(ctx); run != nil {
		if run.Hops >= MaxHops {
			return 0, tooManyHops(Invalid)
		}
		return run.Hops + 1, nil
	}
	if r := requestFrom(ctx); r != nil {
		return HopsOf(r.Header)
	}
	return 0, nil
}

// HopsOf returns how many events and pipelines led to a request with these
// headers, and an error if they are too many. Callers who make a number up harm
// only what follows from their request.
func HopsOf(header map[string][]string) (int, error) {
	given := header[HopsHeader]
	if len(given) == 0 {
		return 0, nil
	}
	hops, _ := strconv.Atoi(given[0]) // a malformed number counts as 0
	if hops > MaxHops {
		return 0, tooManyHops(Loop)
	}
	return max(0, hops), nil
}

func tooManyHops(kind Kind) *Error {
	return Errorf(CodeTooManyHops,
		"This is the %dth event or pipeline that follows from another; pipelines seem to start each other in a loop.",
		MaxHops+1).OfKind(kind)
}
