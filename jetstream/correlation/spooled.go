package correlation

// SpoolBits is how many bits the number of a spool has.
const SpoolBits = 16

const placeBits = sequenceBits - SpoolBits

// Spooled returns the number of the spool, and the event's place in it, that the correlation id of a
// spooled event says.
func (r Reference) Spooled() (spool, place uint64) {
	return r.Sequence >> placeBits, r.Sequence & (1<<placeBits - 1)
}

// SpooledID returns the correlation id of an event that waits in a spool, and has no
// sequence among all events yet. The id has the number of the spool and the event's
// place there, and stays good when the event is handed over.
func (c IDs) SpooledID(spool, place uint64, traceID string) string {
	return c.id(spooledForm, spool<<placeBits|place&(1<<placeBits-1), traceID)
}

// ParseSpooled reads the id of a spooled event.
func (c IDs) ParseSpooled(id string) (r Reference, ok bool) { return c.parse(spooledForm, id) }

// WasSpooled reports whether a spool has made an id for the event with a trace id.
func (c IDs) WasSpooled(id, traceID string) bool {
	r, ok := c.ParseSpooled(id)
	return ok && c.Fits(r, traceID)
}
