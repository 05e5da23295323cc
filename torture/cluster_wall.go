package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// A wall is a network namespace of its own for one server: it can be cut off from
// all others, and nobody is told.
type wall struct {
	name, near, far string
}

// buildWall makes the namespace. Only root can, on Linux.
func buildWall() (*wall, error) {
	id := os.Getpid() % 250
	w := &wall{
		name: fmt.Sprint("torture", id), near: fmt.Sprintf("10.213.%d.1", id), far: fmt.Sprintf("10.213.%d.2", id),
	}
	inside, outside := fmt.Sprint("tin", id), fmt.Sprint("tout", id)
	for _, args := range []string{
		"netns add " + w.name,
		"link add " + outside + " type veth peer name " + inside + " netns " + w.name,
		"addr add " + w.near + "/24 dev " + outside,
		"link set " + outside + " up",
		"-n " + w.name + " addr add " + w.far + "/24 dev " + inside,
		"-n " + w.name + " link set " + inside + " up",
		"-n " + w.name + " link set lo up",
	} {
		if err := ip(args); err != nil {
			w.remove()
			return nil, err
		}
	}
	return w, nil
}

// canBuildWalls reports whether there can be any.
func canBuildWalls() bool {
	_, err := exec.LookPath("ip")
	return err == nil && os.Getuid() == 0
}

// close lets nothing through any more that comes from inside.
func (w *wall) close() error { return ip("-n " + w.name + " route add blackhole " + w.near + "/32") }

// open lets everything through again.
func (w *wall) open() error { return ip("-n " + w.name + " route del blackhole " + w.near + "/32") }

func (w *wall) remove() { _ = ip("netns del " + w.name) } // takes both ends of the link with it

func ip(args string) error {
	out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", args, err, out)
	}
	return nil
}
