package webhook

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"sluice"
)

// TestTagsNameTheLimits: what callers read about a payload's length is what counts.
func TestTagsNameTheLimits(t *testing.T) {
	t.Parallel()
	field, _ := reflect.TypeFor[putParams]().FieldByName("MaxPayloadLength")
	if got := field.Tag.Get("max"); got != strconv.Itoa(sluice.MaxPayloadLength) {
		t.Errorf("the largest value is %s", got)
	}
	if doc := field.Tag.Get("doc"); !strings.Contains(doc, fmt.Sprintf("Default %d.", sluice.DefaultPayloadLength)) {
		t.Errorf("the default is another one than in %q", doc)
	}
	field, _ = reflect.TypeFor[putParams]().FieldByName("Schema")
	if doc := field.Tag.Get("doc"); !strings.Contains(doc, fmt.Sprintf("up to %d KiB", maxSchema>>10)) {
		t.Errorf("the largest schema is another one than in %q", doc)
	}
}
