package jetstream

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/jetstream/natstest"
)

// TestSealed: what callers sent, and what became of it, is in no file of the store and in no
// backup, and is read as before. What was stored before in clear is read as well, and so is
// what is sealed once nothing more is.
func TestSealed(t *testing.T) {
	natstest.OnEverySetup(t, func(t *testing.T, s natstest.Setup) {
		folders := []string{s.Dir}
		if s.Dir == "" {
			folders, _ = filepath.Glob(filepath.Join(os.TempDir(), "sluice-external-*"))
		}
		var results []sluice.Result
		key := natstest.UniqueKey("sealed")
		text := func(when string) string { return when + "@" + key }
		for _, when := range []string{"clear", "sealed", "again"} {
			e := openEngine(t, Options{Dir: s.Dir, URL: s.URL, Replicas: s.Replicas, SealEvents: when == "sealed"})
			p := bind(t, e, when+strings.Split(key, ".")[1], sluice.EventPrefix+key, 16)
			stop := consume(t, e, p, echo(e, p, text(when)))
			results = append(results, personal(t, e, key, text(when)))
			stop()
			storePipeline(t, e, p.Name, nil)
			natstest.Eventually(t, "the dead letter is stored", func() bool { return len(lettersOf(t, e, p.Name)) == 1 })
			for i, before := range []string{"clear", "sealed", "again"}[:len(results)] {
				checkReadable(t, e, results[i], text(before))
			}
			for _, before := range []string{"clear", "sealed"} {
				found, stored := filesWith(t, text(before), folders...), inBackup(t, e, text(before))
				if inClear := before == "clear"; (len(found) > 0) != inClear || (len(stored) > 0) != inClear {
					t.Errorf("%s: the text %s is in the files %v, and in a backup in %v", when, before, found, stored)
				}
			}
			e.Close()
		}
	})
}

// TestADeliveryIsSealedOnce: also where a first attempt finds the marker of an earlier one, whose window is over.
func TestADeliveryIsSealedOnce(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Options{URL: natstest.Start(natstest.Options()).ClientURL(), Replicas: 1, SealEvents: true})
	for range 2 {
		result, err := acceptPatiently(t.Context(), e, delivered("webhook.sealed", "id", "body", time.Nanosecond))
		if err != nil || result.Duplicate {
			t.Fatalf("it is accepted as %+v (%v)", result, err)
		}
		if event, err := e.Journal.Event(t.Context(), result.CorrelationID); err != nil || event.DeliveryID != "id" {
			t.Errorf("the event is %+v (%v)", event, err)
		}
	}
}

// checkReadable checks that an event, its result, its dead letter and its runs have a text.
func checkReadable(t *testing.T, e *Engine, r sluice.Result, text string) {
	t.Helper()
	event, err := e.Journal.Event(t.Context(), r.CorrelationID)
	if err != nil || !strings.Contains(string(event.Payload), text) {
		t.Errorf("the event of %s is %s (%v)", text, event.Payload, err)
	}
	result, err := e.Results.Result(t.Context(), r.CorrelationID, 0)
	if err != nil || string(result.Value) != `"`+text+`"` {
		t.Errorf("the result of %s is %+v (%v)", text, result, err)
	}
	when, key, _ := strings.Cut(text, "@")
	if letters := lettersOf(t, e, when+strings.Split(key, ".")[1]); len(letters) != 1 || letters[0].Error.Detail != text || !bytes.Contains(letters[0].Event, []byte(text)) {
		t.Errorf("the dead letters of %s are %+v", text, letters)
	}
	if runs := callOf(t, e, r.TraceID).Runs; len(runs) != 1 || runs[0].Steps[0].HTTP.Request != text {
		t.Errorf("the runs of %s are %+v", text, runs)
	}
	calls, _, err := e.Journal.Calls(t.Context(), sluice.TraceQuery{EventKey: key, Text: text, InPayload: true, Limit: 10})
	if err != nil || len(calls) != 1 {
		t.Errorf("a search for %s finds %d calls (%v)", text, len(calls), err)
	}
}

func lettersOf(t *testing.T, e *Engine, pipeline string) []sluice.DeadLetter {
	t.Helper()
	letters, _, err := e.DeadLetters.Letters(t.Context(), sluice.DeadLetterQuery{Pipeline: pipeline, Limit: 10})
	check(t, err)
	return letters
}

// TestASealedSpool: a call that waits in a spool is unreadable there, and is handed over also
// if the key was replaced meanwhile.
func TestASealedSpool(t *testing.T) {
	t.Parallel()
	const text = "waits in the spool"
	for _, sealed := range []bool{false, true} {
		s := startSpooling(t, func(o *Options) { o.SealEvents = sealed })
		s.cut()
		e := call("webhook.spool")
		e.Payload, e.PayloadEncoding = json.RawMessage(`"`+text+`"`), sluice.EncodingText
		s.call(s.one, e)
		if found := filesWith(t, text, s.opts.SpoolDir); (len(found) == 0) != sealed {
			t.Errorf("sealed %v: the text is in %v", sealed, found)
		}
		s.one.Close()
		s.two.Close()
		s.way.GoOn()
		log := slog.New(slog.DiscardHandler)
		box, err := boxOf(7)(true)
		check(t, err)
		check(t, Rekey(t.Context(), Options{URL: s.opts.URL, Replicas: 1, Box: natstest.Box, Log: log}, box, func(string) {}))
		s.opts.Box = boxOf(7)
		s.one = openEngine(t, s.opts)
		natstest.Eventually(t, "the call is handed over", func() bool { return s.one.Spooled() == 0 })
		if event, err := s.one.Stored.Newest(t.Context(), "webhook.spool"); err != nil || !bytes.Contains(event, []byte(text)) {
			t.Errorf("sealed %v: the event is %s (%v)", sealed, event, err)
		}
	}
}
