package page

import (
	"net/http"
	"time"

	"sluice"
	"sluice/problem"
)

// WrongFilter returns the status of a list, and the message if the command rejected the
// filter. It returns other errors unchanged.
func WrongFilter(err error) (status int, rejection string, other error) {
	if err == nil {
		return http.StatusOK, "", nil
	}
	e := sluice.AsError(err)
	if e.Kind != sluice.Invalid {
		return 0, "", err
	}
	return problem.Status(e), e.Message, nil
}

// AsTime returns the value of a browser's time field in RFC 3339, as UTC. It returns
// any other text unchanged.
func AsTime(text string) string {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Format(time.RFC3339)
		}
	}
	return text
}
