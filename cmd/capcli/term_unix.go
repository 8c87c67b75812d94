//go:build unix

package main

import "golang.org/x/sys/unix"

// terminal gives the width of the terminal that fd is, if it is one.
func terminal(fd uintptr) (width int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}
