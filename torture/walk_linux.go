package main

import (
	"context"
	"syscall"
	"time"
	"unsafe"
)

// takeDescriptors lets the server open no more files for a while.
func takeDescriptors(ctx context.Context, w *walk) error {
	var before syscall.Rlimit
	if err := prlimit(w.pid, nil, &before); err != nil {
		return err
	}
	if err := prlimit(w.pid, &syscall.Rlimit{Cur: 16, Max: before.Max}, nil); err != nil {
		return err
	}
	sleep(ctx, time.Second)
	return prlimit(w.pid, &before, nil)
}

func prlimit(pid int, limit, before *syscall.Rlimit) error {
	_, _, code := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_NOFILE,
		uintptr(unsafe.Pointer(limit)), uintptr(unsafe.Pointer(before)), 0, 0)
	if code != 0 {
		return code
	}
	return nil
}
