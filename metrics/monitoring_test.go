package metrics

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"

	"sluice"
)

var (
	described = regexp.MustCompile(`fqName: "(\w+)".*variableLabels: \{([\w,]*)\}`)
	selector  = regexp.MustCompile(`\b(sluice_\w+|up)(?:\{([^}]*)\})?`)
	matcher   = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	grouping  = regexp.MustCompile(`by \(([^)]*)\)`)
)

// existing returns the labels of every metric there is.
func existing(t *testing.T) map[string][]string {
	t.Helper()
	m := New("test", func() sluice.ServerStats { return sluice.ServerStats{} })
	found := make(map[string][]string)
	descriptions := make(chan *prometheus.Desc)
	go func() {
		m.registry.Describe(descriptions)
		close(descriptions)
	}()
	for d := range descriptions {
		if parts := described.FindStringSubmatch(d.String()); parts != nil {
			found[parts[1]] = strings.Split(parts[2], ",")
		}
	}
	found["sluice_info"] = []string{"version"}
	found["up"] = []string{"job", "instance"} // which Prometheus adds
	return found
}

// check holds an expression against the metrics there are.
func check(t *testing.T, where, expression string, metrics map[string][]string) {
	t.Helper()
	var labels []string
	selections := selector.FindAllStringSubmatch(expression, -1)
	if len(selections) == 0 {
		t.Errorf("%s: %s looks at none of our metrics", where, expression)
	}
	for _, s := range selections {
		name := s[1]
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if _, ok := metrics[name]; !ok {
				name = strings.TrimSuffix(name, suffix)
			}
		}
		known, ok := metrics[name]
		if !ok {
			t.Errorf("%s: there is no metric %s", where, s[1])
		}
		labels = append(labels, known...)
		for _, m := range matcher.FindAllStringSubmatch(s[2], -1) {
			if !slices.Contains(known, m[1]) {
				t.Errorf("%s: %s has no label %s", where, name, m[1])
			}
		}
	}
	for _, g := range grouping.FindAllStringSubmatch(expression, -1) {
		for label := range strings.SplitSeq(g[1], ",") {
			if label = strings.TrimSpace(label); label != "le" && !slices.Contains(labels, label) {
				t.Errorf("%s: none of the metrics has the label %s", where, label)
			}
		}
	}
}

func TestTheDashboardShowsMetricsThereAre(t *testing.T) {
	content, err := os.ReadFile("../docs/monitoring/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(content, &dashboard); err != nil {
		t.Fatal(err)
	}
	metrics := existing(t)
	shown := string(content)
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			check(t, panel.Title, target.Expr, metrics)
		}
	}
	for name := range metrics {
		if strings.HasPrefix(name, "sluice_") && name != "sluice_events" && name != "sluice_webhooks" && !strings.Contains(shown, name) {
			t.Errorf("no panel shows %s", name)
		}
	}
}

func TestAlertsWatchMetricsThereAre(t *testing.T) {
	content, err := os.ReadFile("../docs/monitoring/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For string
				Annotations      map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(content, &rules); err != nil {
		t.Fatal(err)
	}
	metrics := existing(t)
	for _, rule := range rules.Groups[0].Rules {
		check(t, rule.Alert, rule.Expr, metrics)
		if rule.For == "" || rule.Annotations["summary"] == "" || rule.Annotations["action"] == "" {
			t.Errorf("%s does not say for how long, what is wrong and what to do", rule.Alert)
		}
	}
}
