package main

import "golang.org/x/sys/windows"

// terminal gives the width of the console that fd is, if it is one.
func terminal(fd uintptr) (width int, ok bool) {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(fd), &info); err != nil {
		return 0, false
	}
	return int(info.Window.Right-info.Window.Left) + 1, true
}
