package limit

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// leastOfMachine is what the server may use of a machine's memory at least, if the machine
// has as much.
const leastOfMachine = 2 << 30

// Available returns the memory that this process may use: all of its container's, or half
// of the machine's, which it shares with other programs.
func Available() int64 { return availableIn(os.DirFS("/")) }

func availableIn(root fs.FS) int64 {
	machine := totalMemory(root)
	if contained := containerMemory(root); contained < machine {
		return contained
	}
	if machine == math.MaxInt64 {
		return leastOfMachine // this system doesn't tell
	}
	return max(machine/2, min(leastOfMachine, machine/4*3))
}

// totalMemory returns the memory of the machine.
func totalMemory(root fs.FS) int64 {
	info, _ := fs.ReadFile(root, "proc/meminfo") // there is none on other systems
	for line := range strings.Lines(string(info)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "MemTotal:" {
			kibibytes, err := strconv.ParseInt(fields[1], 10, 64)
			if err == nil && kibibytes > 0 {
				return kibibytes << 10
			}
		}
	}
	return math.MaxInt64
}

// containerMemory returns the lowest bound of the control groups around this process, of
// either version.
func containerMemory(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	groups, _ := fs.ReadFile(root, "proc/self/cgroup") // there is none on other systems
	for line := range strings.Lines(string(groups)) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(line, ":")
		switch {
		case controllers == "":
			least = min(least, leastAround(root, "sys/fs/cgroup", group, "memory.max"))
		case strings.Contains(","+controllers+",", ",memory,"):
			least = min(least, leastAround(root, "sys/fs/cgroup/memory", group, "memory.limit_in_bytes"))
		}
	}
	return least
}

// leastAround returns the lowest bound of a group and its parents. Inside a container the
// path of the group may be wrong: then its own files are at the top.
func leastAround(root fs.FS, top, group, file string) int64 {
	least := int64(math.MaxInt64)
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		content, _ := fs.ReadFile(root, path.Join(top, group, file))
		bound, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
		if err == nil && bound > 0 { // otherwise it is "max", or not there
			least = min(least, bound)
		}
		if group == "/" {
			return least
		}
	}
}
