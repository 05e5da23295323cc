package iam

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"sluice/limit"
)

// TestTagsNameTheLimits: what callers read about passwords is what counts.
func TestTagsNameTheLimits(t *testing.T) {
	t.Parallel()
	want := fmt.Sprintf("%d characters or more, at most %d bytes", limit.MinPassword, limit.MaxPassword)
	for _, params := range []reflect.Type{reflect.TypeFor[passwordSetParams](), reflect.TypeFor[userPutParams]()} {
		field, _ := params.FieldByName("Password")
		if doc := field.Tag.Get("doc"); !strings.Contains(doc, want) {
			t.Errorf("%s: %q does not say %q", params, doc, want)
		}
	}
}
