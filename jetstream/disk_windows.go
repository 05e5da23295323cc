package jetstream

import "golang.org/x/sys/windows"

// freeDisk gives the bytes that are free on the volume of a folder.
func freeDisk(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return int64(free), err
}
