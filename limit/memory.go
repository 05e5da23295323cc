package limit

import (
	"net/http"
	"sync/atomic"
	"time"

	"sluice"
)

// small is the size up to which a body costs no more than the call itself.
const small = 64 << 10

// A Budget bounds the memory that large bodies take together. Without it, as
// many callers as there are connections could send the largest body each.
type Budget struct {
	max  int64
	held atomic.Int64
}

// NewBudget gives a budget of so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{max: bytes} }

// Reserve takes the memory for a request's body, at most limit bytes of it, out
// of the budget until release is called. It fails with Unavailable if the
// budget is spent.
func (b *Budget) Reserve(r *http.Request, limit int) (release func(), err error) {
	size := r.ContentLength
	if size < 0 || size > int64(limit) {
		size = int64(limit) // not told, or about to be refused
	}
	if size <= small {
		return func() {}, nil
	}
	if b.held.Add(size) > b.max {
		b.held.Add(-size)
		return nil, sluice.Errorf(sluice.Unavailable, "overloaded", "The server holds as many large bodies as it can. Try again soon.").After(2 * time.Second).Closing()
	}
	return func() { b.held.Add(-size) }, nil
}
