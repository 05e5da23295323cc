package correlation

// SpoolBits is how many bits the number of a spool has.
const SpoolBits = 16

const placeBits = sequenceBits - SpoolBits

// A SpooledReference is what the correlation id of a spooled event says.
type SpooledReference struct {
	Spool uint64 // its number
	Place uint64 // of the event in it

	nonce uint64
}

// SpooledID returns the correlation id of an event that waits in a spool, and has no
// sequence among all events yet. The id has the number of the spool and the event's
// place there, and stays good when the event is handed over.
func (c IDs) SpooledID(spool, place uint64, traceID string) string {
	locator := spool<<placeBits | place&(1<<placeBits-1)
	nonce := c.nonceOf("spooled", locator, traceID)
	return pack(nonce, (locator<<formBits|spooledForm)<<zeroBits^c.mask(nonce)).String()
}

// ParseSpooled reads the id of a spooled event.
func (c IDs) ParseSpooled(id string) (r SpooledReference, ok bool) {
	nonce, locator, ok := c.open(id)
	place := locator >> formBits
	r = SpooledReference{Spool: place >> placeBits, Place: place & (1<<placeBits - 1), nonce: nonce}
	return r, ok && locator&(1<<formBits-1) == spooledForm
}

// FitsSpooled reports whether an id leads to the event with a trace id.
func (c IDs) FitsSpooled(r SpooledReference, traceID string) bool {
	return r.nonce == c.nonceOf("spooled", r.Spool<<placeBits|r.Place, traceID)
}

// WasSpooled reports whether a spool has made an id for the event with a trace id.
func (c IDs) WasSpooled(id, traceID string) bool {
	if id == "" {
		return false
	}
	r, ok := c.ParseSpooled(id)
	return ok && c.FitsSpooled(r, traceID)
}
