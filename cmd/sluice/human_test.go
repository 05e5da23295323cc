package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/cmd/sluice/view"
)

// noon is when the things in these tests are looked at.
var noon = time.Date(2030, 1, 31, 12, 0, 0, 0, time.FixedZone("CET", 3600))

// TestWhatPeopleSee compares what people see with files: UPDATE_GOLDEN=1 writes
// them anew.
func TestWhatPeopleSee(t *testing.T) {
	for name, test := range map[string]struct {
		v       view.View
		columns []view.Column
	}{
		"calls":      {view.View{Width: 100}, view.CallColumns},
		"calls-wide": {view.View{}, view.CallColumns},
		"call":       {view.View{}, nil},
		"webhooks":   {view.View{Width: 60}, view.Columns("eventKey", "provider", "payloadType", "maxPayloadLength", "disabled", "uuid", "updated", "description")},
		"webhook":    {view.View{}, nil},
		"colours":    {view.View{Colour: true, Tokens: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := test.v
			v.Now, v.Zone = noon, noon.Location()
			document, err := os.ReadFile(filepath.Join("testdata", "seen", strings.TrimSuffix(name, "-wide")+".json"))
			if err != nil {
				t.Fatal(err)
			}
			root, err := view.Parse(document)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case name == "call":
				v.Call(root, nil)
			case test.columns != nil:
				v.Rows(root.Content, test.columns, "")
			default:
				v.Account(root, "")
			}
			golden(t, filepath.Join("testdata", "seen", name+".txt"), v.String())
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}
