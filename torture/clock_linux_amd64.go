package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"unsafe"
)

// bendClock makes this process read another time of day: that of the machine and so many seconds
// more as a file says at that moment. The clock that only goes forward stays as it is, as when the
// real clock is set. The code that the kernel lends a process for that (the vDSO) is replaced, so
// the process asks the kernel at each reading.
func bendClock(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(int64(os.Getpagesize())); err != nil {
		return err
	}
	offset, err := syscall.Mmap(int(f.Fd()), 0, os.Getpagesize(), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	code := []byte{
		0xb8, 0xe4, 0, 0, 0, // mov eax, 228: clock_gettime
		0x0f, 0x05, // syscall
		0x85, 0xff, // test edi, edi: CLOCK_REALTIME
		0x75, 0x10, // jne to the end
		0x48, 0xb9, // mov rcx, where the seconds are
	}
	code = binary.LittleEndian.AppendUint64(code, uint64(uintptr(unsafe.Pointer(&offset[0]))))
	code = append(code,
		0x48, 0x8b, 0x09, // mov rcx, [rcx]
		0x48, 0x01, 0x0e, // add [rsi], rcx
		0xc3, // ret
	)
	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	at, err := clockCode(memory)
	if err != nil {
		return err
	}
	_, err = memory.WriteAt(code, at)
	return err
}

// clockCode returns where the code is that tells the time.
func clockCode(memory *os.File) (int64, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		if !strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil {
			return 0, err
		}
		image := make([]byte, to-from)
		if _, err := memory.ReadAt(image, from); err != nil {
			return 0, err
		}
		file, err := elf.NewFile(bytes.NewReader(image))
		if err != nil {
			return 0, err
		}
		symbols, err := file.DynamicSymbols()
		if err != nil {
			return 0, err
		}
		for _, s := range symbols {
			if s.Name == "__vdso_clock_gettime" {
				return from + int64(s.Value), nil
			}
		}
	}
	return 0, errors.New("this kernel lends processes no code to tell the time")
}
