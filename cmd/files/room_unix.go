//go:build linux || darwin

package files

import "golang.org/x/sys/unix"

// Room returns the bytes that this user may still write to the disk that holds path, and the
// size of that disk.
func Room(path string) (free, size uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, 0, err
	}
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}
