package run_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/pipeline/run"
	"sluice/value"
)

// TestExchangesStandInTheReport: with their step alone, and without secrets.
func TestExchangesStandInTheReport(t *testing.T) {
	f := newFixture(run.Limits{})
	if _, err := f.run(t, `pipeline: [http.request: {url: "http://a.example/?k=#{secret('key')}", headers: {authorization: "Bearer #{secret('key')}"}, body: "x #{secret('quoted')} y"}, set: {value: 1}]`); err != nil {
		t.Fatal(err)
	}
	steps := (<-f.reports).Steps
	want := &sluice.Exchange{Method: "POST", URL: "http://a.example/?k=***", Host: "a.example", StatusCode: 200, Request: "Bearer ***\n\nx *** y", Response: "x *** y"}
	if diff := cmp.Diff(want, steps[0].HTTP); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if steps[1].HTTP != nil {
		t.Errorf("a step that sends nothing has %+v", steps[1].HTTP)
	}
}

// TestAComputedHostIsNotShown: viewers see hosts that the source has, and neither hosts nor
// names that a sender may have chosen.
func TestAComputedHostIsNotShown(t *testing.T) {
	f := newFixture(run.Limits{})
	if _, err := f.run(t, `{vars: {host: a}, pipeline: [http.request: {url: "http://#{vars.host}.b.example/"}]}`); err != nil {
		t.Fatal(err)
	}
	if got := (<-f.reports).Steps[0].HTTP; got.Host != "" || got.URL != "http://a.b.example/" {
		t.Errorf("the exchange is %+v", got)
	}
}

// TestExchangesAreCut: without leaving half of a secret at the end.
func TestExchangesAreCut(t *testing.T) {
	for _, before := range []int{0, 4080, 4088, 4090, 4092, 4096, 4100} {
		f := newFixture(run.Limits{})
		if _, err := f.run(t, `{vars: {x: `+strings.Repeat("x", before)+`}, pipeline: [http.request: {url: "http://a/", body: "#{vars.x}#{secret('longer')}#{vars.x}#{secret('longer')}"}]}`); err != nil {
			t.Fatal(err)
		}
		got := (<-f.reports).Steps[0].HTTP.Response
		if len(got) > 4096 || strings.Contains(got, "s3") || before > 4000 && (len(got) < 4000 || !strings.HasSuffix(got, "…")) {
			t.Errorf("behind %d characters: %d bytes, …%s", before, len(got), got[max(0, len(got)-40):])
		}
	}
}

// TestALoopOfExchangesIsBounded: its report does not grow without end.
func TestALoopOfExchangesIsBounded(t *testing.T) {
	f := newFixture(run.Limits{})
	if _, err := f.run(t, `{vars: {x: `+strings.Repeat("x", 4000)+`}, pipeline: [foreach: {in: "#{1..400}", do: [http.request: {url: "http://a/#{vars.x}", body: "#{vars.x}"}]}]}`); err != nil {
		t.Fatal(err)
	}
	report := <-f.reports
	if size := len(value.AppendRecord(nil, &report)); len(report.Steps) != 400 || size > 2<<20 {
		t.Errorf("the report has %d steps and %d bytes", len(report.Steps), size)
	}
	last := report.Steps[399].HTTP
	if last == nil || last.Request != "" || last.StatusCode != 200 || !strings.HasPrefix(last.URL, "http://a/x") {
		t.Errorf("the last one is %+v", last)
	}
}
