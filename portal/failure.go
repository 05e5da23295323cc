package portal

import "net/http"

// Advice says what to do next.
func (f failure) Advice() string {
	switch f.Status {
	case http.StatusForbidden:
		return "Your own page, behind your name, says what your roles allow. An administrator can give you another role."
	case http.StatusNotFound:
		return "What you look for may have been deleted or renamed, or the address has a mistake. The lists show what there is."
	case http.StatusConflict, http.StatusPreconditionFailed:
		return "Nothing was changed. Go back, see how things are now, and try again."
	case http.StatusTooManyRequests:
		return "Nothing was changed. Wait for a moment, then reload the page."
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusInsufficientStorage:
		return "Wait for a moment, then reload the page. If that does not help, /readyz and the server’s log tell an operator why."
	}
	if f.Status >= http.StatusInternalServerError {
		return "This is not your mistake. The server’s log tells an operator more; what was accepted before is safe."
	}
	return "Nothing was changed. Go back, change what you entered, and try again."
}

// Section returns the page of the navigation that the path is below, nil if
// there is none that the user may see.
func (s *page) Section() *link {
	for _, group := range s.Sections() {
		for _, l := range group.Links {
			if within(s.Path, l.Path) && s.Path != l.Path {
				return &l
			}
		}
	}
	return nil
}
