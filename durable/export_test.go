package durable

// Newest gives the number of the newest block that was synced.
func (b *Blocks) Newest() int { return b.newest }
