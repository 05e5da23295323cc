package limit

import (
	"testing"
	"testing/fstest"
)

// TestAvailable: the container's memory counts, however deep its group is, and
// without one half of the machine's.
func TestAvailable(t *testing.T) {
	const none = "9223372036854771712\n" // as version 1 has it
	tests := map[string]struct {
		files map[string]string
		want  int64
	}{
		"a machine": {map[string]string{
			"proc/meminfo":     "MemTotal:       16777216 kB\nMemFree: 1 kB\n",
			"proc/self/cgroup": "0::/user.slice\n", "sys/fs/cgroup/user.slice/memory.max": "max\n",
		}, 8 << 30},
		"a small machine":       {map[string]string{"proc/meminfo": "MemTotal: 3145728 kB\n"}, 2 << 30},
		"a tiny machine":        {map[string]string{"proc/meminfo": "MemTotal: 1048576 kB\n"}, 768 << 20},
		"a system without proc": {nil, 2 << 30},
		"a container": {map[string]string{
			"proc/meminfo": "MemTotal: 16777216 kB\n", "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n",
		}, 512 << 20},
		"a group within a group that has less": {map[string]string{
			"proc/meminfo": "MemTotal: 16777216 kB\n", "proc/self/cgroup": "0::/a/b/c\n",
			"sys/fs/cgroup/a/b/c/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.max": "2147483648\n", "sys/fs/cgroup/a/memory.max": "1073741824\n",
		}, 1 << 30},
		"a container that is told its path outside": {map[string]string{
			"proc/meminfo": "MemTotal: 16777216 kB\n", "proc/self/cgroup": "0::/docker/0123\n", "sys/fs/cgroup/memory.max": "268435456\n",
		}, 256 << 20},
		"version 1": {map[string]string{
			"proc/meminfo": "MemTotal: 16777216 kB\n", "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:hugetlb,memory:/a/b\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": none, "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "1073741824\n", "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": none,
		}, 1 << 30},
		"version 1 without a bound": {map[string]string{
			"proc/meminfo": "MemTotal: 16777216 kB\n", "proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": none,
		}, 8 << 30},
		"more than the machine has": {map[string]string{
			"proc/meminfo": "MemTotal: 8388608 kB\n", "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "68719476736\n",
		}, 4 << 30},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			system := fstest.MapFS{}
			for file, content := range test.files {
				system[file] = &fstest.MapFile{Data: []byte(content)}
			}
			if got := availableIn(system); got != test.want {
				t.Errorf("there are %d MiB, want %d", got>>20, test.want>>20)
			}
		})
	}
}
