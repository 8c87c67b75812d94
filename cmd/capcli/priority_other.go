//go:build !linux

package main

// lowerPriority does nothing: this system knows no priority of a single thread.
func lowerPriority() {}
