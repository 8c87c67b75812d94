//go:build !linux && !darwin

package shell

import "errors"

// DiskRoom fails: the room on a disk cannot be read on this system.
func DiskRoom(string) (free, size uint64, err error) { return 0, 0, errors.ErrUnsupported }
