package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// machine names what the figures were measured on, with the file system of a
// folder. What only Linux knows is left out elsewhere.
func machine(dir string) string {
	parts := []string{fmt.Sprintf("%s, %d cores", model(), runtime.NumCPU())}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		parts = append(parts, "Linux "+strings.TrimSpace(string(kernel)))
	} else {
		parts = append(parts, runtime.GOOS)
	}
	parts = append(parts, strings.Replace(runtime.Version(), "go", "Go ", 1))
	if fs := fileSystem(dir); fs != "" {
		parts = append(parts, "data on "+fs)
	}
	return strings.Join(parts, ", ")
}

// model returns the name of the processor.
func model() string {
	content, _ := os.ReadFile("/proc/cpuinfo") // only on Linux
	for line := range strings.Lines(string(content)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// fileSystem returns the type of the file system that a folder is on.
func fileSystem(dir string) string {
	content, _ := os.ReadFile("/proc/self/mounts") // only on Linux
	found, longest := "", ""
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || len(fields[1]) < len(longest) {
			continue
		}
		if point := strings.TrimSuffix(fields[1], "/"); strings.HasPrefix(dir+"/", point+"/") {
			found, longest = fields[2], fields[1]
		}
	}
	return found
}

// resident returns the bytes of memory that a process occupies, if the system
// tells.
func resident(p *process) (bytes float64, known bool) {
	content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid)) // only on Linux
	for line := range strings.Lines(string(content)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kilobytes, err := strconv.ParseFloat(fields[1], 64)
			return kilobytes * 1024, err == nil
		}
	}
	return 0, false
}

// cpuSeconds returns the processor time that a process has taken, if the system
// tells.
func cpuSeconds(p *process) (seconds float64, known bool) {
	// a second, in this file, on any Linux
	const ticks = 100
	content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))      // only on Linux
	fields := strings.Fields(string(content[bytes.LastIndexByte(content, ')')+1:])) // behind the program's name
	if len(fields) < 13 {
		return 0, false
	}
	user, err := strconv.ParseFloat(fields[11], 64)
	system, err2 := strconv.ParseFloat(fields[12], 64)
	return (user + system) / ticks, err == nil && err2 == nil
}
