package journal

// Streams names the streams of the journal: those that tell of events, and the one
// that tells of the rest.
func Streams() (ofEvents []string, rest string) {
	return []string{journalStream, indexStream}, eventlessStream
}
