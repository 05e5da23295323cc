package damage

import "fmt"

// A Loss is a damage that was found.
type Loss struct {
	Stream      string
	File        string // below the folder of the streams
	First, Last uint64 // messages that are lost; 0: the file does not tell
	Problem     string
}

func (l Loss) String() string { return l.File + ": " + l.Problem + l.messages() }

// Public says the same without the name of the file.
func (l Loss) Public() string { return "the stream " + l.Stream + ": " + l.Problem + l.messages() }

func (l Loss) messages() string {
	switch {
	case l.First == 0 && l.Last == 0:
		return ""
	case l.First == l.Last:
		return fmt.Sprintf("; message %d is lost", l.First)
	case l.First == 0:
		return fmt.Sprintf("; messages up to %d are lost", l.Last)
	case l.Last == 0:
		return fmt.Sprintf("; messages from %d on are lost", l.First)
	default:
		return fmt.Sprintf("; messages %d to %d are lost", l.First, l.Last)
	}
}

// open reports whether the end of a loss is not known yet.
func (l Loss) open() bool { return l.First > 0 && l.Last == 0 }
