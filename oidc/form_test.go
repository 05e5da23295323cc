package oidc

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/iotest"

	"sluice"
)

func TestBodyThatDoesNotArrive(t *testing.T) {
	for name, test := range map[string]struct {
		err   error
		kind  sluice.Kind
		close bool
	}{
		"too slow":   {os.ErrDeadlineExceeded, sluice.Timeout, true},
		"broken off": {io.ErrUnexpectedEOF, sluice.Invalid, false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", iotest.ErrReader(test.err))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		_, err := readForm(httptest.NewRecorder(), r)
		if e := sluice.AsError(err); e.Kind != test.kind || e.Code != "invalid_request" || e.Close != test.close {
			t.Errorf("%s: %v", name, err)
		}
	}
}
