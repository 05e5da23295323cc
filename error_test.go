package sluice_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"sluice"
)

// TestErrorsDoNotChange: what is added to an error is in the copy alone, so an
// error can be shared.
func TestErrorsDoNotChange(t *testing.T) {
	shared := sluice.Code("no-good").Errorf("No good.").OfKind(sluice.Invalid)
	before := *shared
	changed := shared.Because(errors.New("why")).Saying("Bad.").Coded(sluice.Code("bad")).About("name").At(sluice.Position{Line: 1}).
		InCall("abcdef:0123456789").WithStatus(418).After(time.Second).Allowing("GET").Challenging("Basic").Closing().Detailed([]string{"one"}).
		Telling(sluice.Said{Message: "No."}).InState("23505")
	if !reflect.DeepEqual(*shared, before) {
		t.Errorf("the error became %+v", *shared)
	}
	fields := reflect.ValueOf(changed.Hints)
	for i := range fields.NumField() {
		if fields.Field(i).IsZero() {
			t.Errorf("the copy lacks %s, which no method adds", fields.Type().Field(i).Name)
		}
	}
	if changed.Error() != "Bad.: why" || changed.Code != "bad" || changed.Kind != sluice.Invalid {
		t.Errorf("the copy is %+v", changed)
	}
}
