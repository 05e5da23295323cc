package record

// EndWatch ends the watch that keeps the copy up to date, as the client library does
// when the engine goes away at the wrong moment. It must not have ended before.
func (b *Bucket[T]) EndWatch() { b.changes.Stop() }
