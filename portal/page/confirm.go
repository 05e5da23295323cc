package page

// A Confirmation asks before something is deleted, by a form that is sent to the path of the page.
type Confirmation struct {
	Verb   string // "": delete
	Name   string
	What   string // the word for it
	Effect string
	Used   any          // the view that says when it was last used; nil if unknown
	Hit    *Consequence // nil if nothing else is affected
	Back   string       // path

	// For several things of a list: the form's field for them, and its values.
	Several bool
	Field   string
	Values  []string
	Code    string // which they failed with, if that selects them

	Instead *Instead // something that can be undone; nil if there is nothing
}

// A Consequence is what else a deletion affects.
type Consequence struct {
	Words string
	Links []Link
	More  int // how many are not listed
}

// maxHit bounds the links of a consequence.
const maxHit = 20

// ConsequenceOf returns the consequence for the pages that links lead to, nil if there are none.
func ConsequenceOf(words string, links []Link) *Consequence {
	if len(links) == 0 {
		return nil
	}
	listed := links[:min(len(links), maxHit)]
	return &Consequence{words, listed, len(links) - len(listed)}
}

// An Instead is an alternative to deleting something.
type Instead struct {
	Label       string
	About       string
	Action      string // path
	Name, Value string // of the form
}
