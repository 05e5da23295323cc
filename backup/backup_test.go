package backup_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"sluice"
	"sluice/backup"
)

// sample returns a backup of two streams.
func sample(t *testing.T) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := backup.NewWriter(&file, backup.Header{Version: "1.2.3", Data: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"FIRST", "SECOND"} {
		err = errors.Join(err, w.Stream(backup.Stream{Name: name, Config: json.RawMessage(`{}`), State: json.RawMessage(`{}`), Messages: 3, Bytes: 30}))
		for _, part := range []string{"some ", "contents of ", name} {
			_, failed := w.Write([]byte(part))
			err = errors.Join(err, failed)
		}
	}
	if err := errors.Join(err, w.End()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestABackupIsReadAsItWasWritten, also if streams are read in part, or not at all.
func TestABackupIsReadAsItWasWritten(t *testing.T) {
	r, err := backup.NewReader(bytes.NewReader(sample(t)))
	if err != nil || r.Header.Version != "1.2.3" {
		t.Fatal(r, err)
	}
	first, err := r.Next()
	if err != nil || first.Name != "FIRST" {
		t.Fatal(first, err)
	}
	if _, err := io.ReadFull(r, make([]byte, 7)); err != nil {
		t.Fatal(err)
	}
	second, err := r.Next()
	if err != nil || second.Name != "SECOND" {
		t.Fatal(second, err)
	}
	if content, err := io.ReadAll(r); err != nil || string(content) != "some contents of SECOND" {
		t.Errorf("read %q, %v", content, err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("behind the last stream: %v", err)
	}
	_, summary, err := backup.Check(bytes.NewReader(sample(t)))
	if want := (backup.Summary{Streams: 2, Messages: 6, Bytes: 60}); err != nil || summary != want {
		t.Errorf("the summary is %+v, want %+v (%v)", summary, want, err)
	}
}

// TestDamageIsFound wherever it is: a byte that has changed, is missing or too much, and a missing
// end.
func TestDamageIsFound(t *testing.T) {
	file := sample(t)
	check := func(what string, damaged []byte) {
		t.Helper()
		_, _, err := backup.Check(bytes.NewReader(damaged))
		if e := sluice.AsError(err); err == nil || e.Kind != sluice.Invalid {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if _, _, err := backup.Check(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	for i := range file {
		for _, change := range []byte{1, 0x80, 0xff} {
			damaged := bytes.Clone(file)
			damaged[i] ^= change
			check("a byte that has changed", damaged)
		}
		check("a byte that is missing", append(bytes.Clone(file[:i]), file[i+1:]...))
		check("an end that is missing", file[:i])
	}
	check("something behind the end", append(bytes.Clone(file), 'x'))
}

// TestDamageIsDescribed: the message says what is wrong and where.
func TestDamageIsDescribed(t *testing.T) {
	file := sample(t)
	inSecond := bytes.LastIndex(file, []byte("contents of"))
	changed := bytes.Clone(file)
	changed[inSecond] ^= 1
	for want, damaged := range map[string][]byte{
		"in SECOND: a checksum does not match":   changed,
		"in SECOND: its end is missing":          file[:inSecond],
		"its end is missing":                     file[:10],
		"This is no backup of sluice":            []byte(strings.Repeat("text ", 20)),
		"there is something behind its end":      append(bytes.Clone(file), 1),
		"has format 2, this program knows 1":     []byte("sluice backup, format 2\nwhatever"),
		"cut off behind byte 0: its end is miss": nil,
	} {
		if _, _, err := backup.Check(bytes.NewReader(damaged)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestAFailureIsTold: the file says why it ends early.
func TestAFailureIsTold(t *testing.T) {
	var file bytes.Buffer
	w, err := backup.NewWriter(&file, backup.Header{})
	if err := errors.Join(err, w.Fail("the server is stopping")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := backup.Check(&file); err == nil || !strings.Contains(err.Error(), "ended early: the server is stopping") {
		t.Errorf("got %v", err)
	}
}

// TestTheKeyIsSealed: it opens with its passphrase, and is in no form to be read.
func TestTheKeyIsSealed(t *testing.T) {
	const key = "XFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFxcXFw="
	for _, passphrase := range []string{"", "open sesame"} {
		sealed, err := backup.SealKey(key, passphrase)
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := json.Marshal(sealed); bytes.Contains(text, []byte(key)) || bytes.Contains(sealed.Sealed, []byte(key)) {
			t.Errorf("the key is in %s", text)
		}
		if got, err := sealed.Open(passphrase); err != nil || got != key {
			t.Errorf("opened: %q, %v", got, err)
		}
		_, err = sealed.Open("open barley")
		if passphrase != "" && sluice.AsError(err).Code != "passphrase-wrong" {
			t.Errorf("with another passphrase: %v", err)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("sluice backup, format 1\nH\x00\x00\x00\x02{}xxxx"))
	f.Fuzz(func(_ *testing.T, file []byte) {
		_, _, _ = backup.Check(bytes.NewReader(file)) // must not panic, nor take all memory
	})
}
