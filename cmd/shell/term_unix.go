//go:build unix

package shell

import "golang.org/x/sys/unix"

// Terminal returns the width in columns of the terminal at fd. ok is false if fd is no terminal.
func Terminal(fd uintptr) (width int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}
