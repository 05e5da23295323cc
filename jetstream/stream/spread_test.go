package stream

import (
	"testing"
	"time"
)

func TestAServerMayHaveItsShareOfNodes(t *testing.T) {
	now := time.Now()
	for name, test := range map[string]struct {
		heard   map[string]string
		servers int
		moves   bool
	}{
		"alone":                   {map[string]string{"a": "one"}, 3, false},
		"one each":                {map[string]string{"a": "one", "b": "two", "c": "three"}, 3, false},
		"all on one":              {map[string]string{"a": "one", "b": "one", "c": "one"}, 3, true},
		"two on one of three":     {map[string]string{"a": "one", "b": "one", "c": "three"}, 3, true},
		"four nodes, three hosts": {map[string]string{"a": "one", "b": "one", "c": "two", "d": "three"}, 3, false},
		"a server without peers":  {map[string]string{"a": "one", "b": "one"}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := &nodes{heard: make(map[string]heard)}
			n.hear("gone", "one", now.Add(-time.Hour))
			for node, server := range test.heard {
				n.hear(node, server, now)
			}
			if mine, most := n.share("one", test.servers, now); (mine > most) != test.moves {
				t.Errorf("%d nodes are here, at most %d should be", mine, most)
			}
		})
	}
}
