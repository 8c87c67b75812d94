package shell

import "golang.org/x/sys/windows"

// Terminal returns the width in columns of the console at fd. ok is false if fd is no console.
func Terminal(fd uintptr) (width int, ok bool) {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(fd), &info); err != nil {
		return 0, false
	}
	return int(info.Window.Right-info.Window.Left) + 1, true
}
