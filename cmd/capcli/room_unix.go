//go:build linux || darwin

package main

import "golang.org/x/sys/unix"

// freeBytes returns the bytes that this user may still write to the disk that holds path.
func freeBytes(path string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}
