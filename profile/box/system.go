package box

import (
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"capcli/profile"
)

// thisBox returns the file system of this box and a clock; ok is false where the system is not Linux. This
// is the only file that asks the operating system.
func thisBox() (root fs.FS, now func() time.Duration, ok bool) {
	start := time.Now()
	return os.DirFS("/"), func() time.Duration { return time.Since(start) }, runtime.GOOS == "linux"
}

// newTimer returns a timer that is not running.
func newTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// IsHere reports whether a source sees the GPUs of this box, so that what is around them is here too:
// the driver's library, nvidia-smi where it runs here, and an exporter at an address of this box. where
// is the source's URL or file, "" where it has none.
func IsHere(source, where string) bool {
	switch source {
	case "nvml":
		return true
	case "smi":
		return where == ""
	case "dcgm":
		u, err := url.Parse(where)
		return err == nil && u.Host != "" && isOwn(u.Hostname())
	}
	return false
}

// isOwn reports whether a name or address is that of this box.
func isOwn(name string) bool {
	if own, err := os.Hostname(); name == "localhost" || err == nil && name == own {
		return true
	}
	ip := net.ParseIP(name)
	if ip == nil || ip.IsLoopback() {
		return ip != nil
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
			return true
		}
	}
	return false
}

// Examine looks at the box twice, in a fifth of a second, and returns the names of the metrics that it
// has, and those that it lacks by reason, as "not supported: fabric_tx_mib_s, fabric_rx_mib_s". Both are
// empty where the system is not Linux.
func Examine() (measured []string, missing string) {
	root, now, ok := thisBox()
	if !ok {
		return nil, ""
	}
	b := newBox(root, now)
	defer b.close()
	var h profile.HostSample
	b.look(&h)
	time.Sleep(examinePause)
	b.look(&h)
	byReason := map[string][]string{}
	for m := range profile.NumHostMetrics {
		if why := h.Why[m]; why == profile.Known {
			measured = append(measured, m.String())
		} else {
			byReason[why.String()] = append(byReason[why.String()], m.String())
		}
	}
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(byReason)) {
		parts = append(parts, why+": "+strings.Join(byReason[why], ", "))
	}
	return measured, strings.Join(parts, "; ")
}

const examinePause = 200 * time.Millisecond
