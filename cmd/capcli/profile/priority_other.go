//go:build !linux

package profile

// lowerPriority does nothing: this system knows no priority of a single thread.
func lowerPriority() {}
