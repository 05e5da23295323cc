package durable

// Newest returns the number of the newest block that was synced.
func (b *Blocks) Newest() int { return b.newest }
