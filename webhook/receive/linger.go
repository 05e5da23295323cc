package receive

import (
	"time"

	"sluice"
)

// lingerCheck is how often a call that waits checks for reasons to stop waiting.
const lingerCheck = 500 * time.Millisecond

// linger waits for the result of a call whose webhook says that it waits for longer than
// others. By then the call has no slot and no memory: only so many calls wait, and further ones
// are answered at once.
func (rc *Receiver) linger(c *checked, result *sluice.Result) {
	end := c.at.Add(c.wait)
	if result.Status != sluice.StatusProcessing || c.wait <= rc.ResultWait || time.Until(end) <= 0 ||
		rc.Lingering.Enter() != nil {
		return
	}
	defer rc.Lingering.Leave()
	c.shed()
	ctx, began := rc.waiting(c.request), time.Now()
	defer func() { result.Waited += time.Since(began) }()
	for left := time.Until(end); left > 0 && ctx.Err() == nil; left = time.Until(end) {
		select {
		case <-rc.Stopping:
			return
		default:
		}
		later, err := rc.Results.Result(ctx, result.CorrelationID, min(left, lingerCheck))
		if err != nil { // it can be read later
			return
		}
		if later.Status != sluice.StatusProcessing {
			result.StatusCode, result.Status = later.StatusCode, later.Status
			result.Value, result.Error = later.Value, later.Error
			return
		}
	}
}

// shed gives up what a call no longer needs that was stored, or is too large.
func (c *checked) shed() {
	c.size = c.length()
	c.body, c.raw, c.payload, c.files = nil, nil, nil, nil
	c.memory.Release()
}
