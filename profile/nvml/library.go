//go:build linux && cgo

package nvml

import (
	"io/fs"

	"capcli/profile/nvml/driver"
)

// needed are the functions without which no GPU can be listed.
var needed = []driver.Symbol{driver.SymCount, driver.SymHandle, driver.SymUUID}

// library is the library of the driver.
type library struct {
	lib     *driver.Library
	path    string
	version string // version of the driver
	nvml    string
}

// alternatives are the paths that are tried when the loader does not find the library: those of
// images of cloud providers, the driver container, WSL and NixOS.
var alternatives = []string{
	"usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
	"usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
	"usr/lib64/libnvidia-ml.so.1",
	"usr/local/nvidia/lib64/libnvidia-ml.so.1",
	"home/kubernetes/bin/nvidia/lib64/libnvidia-ml.so.1",
	"run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
	"run/nvidia/driver/usr/lib64/libnvidia-ml.so.1",
	"usr/lib/wsl/lib/libnvidia-ml.so.1",
	"run/opengl-driver/lib/libnvidia-ml.so.1",
}

const usualName = "libnvidia-ml.so.1"

// findLibrary returns the library at where; if where is "", the one that the loader finds or one
// of the alternatives. It skips a library without nvmlInit. It fails with libraryNotFound.
func findLibrary(where string, root fs.FS) (*library, code) {
	names := []string{where}
	if where == "" {
		names = []string{usualName}
		for _, a := range alternatives {
			if _, err := fs.Stat(root, a); err == nil {
				names = append(names, "/"+a)
			}
		}
	}
	for _, name := range names {
		if l := driver.NewLibrary(name); l.Loads() {
			return &library{lib: l, path: name}, success
		}
	}
	return nil, libraryNotFound
}

// start sets up the library. It fails with functionMissing where a
// needed one is absent.
func (l *library) start() code {
	if c := code(l.lib.Init()); c != success {
		return c
	}
	for _, s := range needed {
		if !l.lib.Has(s) {
			return functionMissing
		}
	}
	if v, ret := l.lib.Text(driver.SymDriverVersion); ret == driver.Success {
		l.version = v
	}
	if v, ret := l.lib.Text(driver.SymNVMLVersion); ret == driver.Success {
		l.nvml = v
	}
	return success
}

func (l *library) stop() code { return code(l.lib.Shutdown()) }

func (l *library) hasGPM() bool {
	return l.lib.Has(driver.SymGpmSupport) && l.lib.Has(driver.SymGpmAlloc) && l.lib.Has(driver.SymGpmFree) && l.lib.Has(driver.SymGpmGet) && l.lib.Has(driver.SymGpmMetrics)
}

func (l *library) hasMIG() bool {
	return l.lib.Has(driver.SymMigMode) && l.lib.Has(driver.SymMigMax) && l.lib.Has(driver.SymMigHandle) && l.lib.Has(driver.SymMigGI) && l.lib.Has(driver.SymMigCI)
}

func (l *library) hasEvents() bool {
	return l.lib.Has(driver.SymEventSet) && l.lib.Has(driver.SymEventFree) && l.lib.Has(driver.SymEventWait) && l.lib.Has(driver.SymRegister)
}
