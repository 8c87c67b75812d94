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
	return slices.ContainsFunc(all, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}

// Report says what can be measured of the box around the GPUs.
type Report struct {
	Measured []string // names of metrics
	Missing  string   // the others by reason, as "not supported: io_pressure_pct, mem_pressure_pct"
	Fabric   bool     // there is a port of InfiniBand, RoCE or EFA; without one its metrics are not missing
}

// Examine looks at the box twice, in a fifth of a second. ok is false where the system is not Linux.
func Examine() (r Report, ok bool) {
	root, now, ok := thisBox()
	if !ok {
		return r, false
	}
	b := newBox(root, now)
	defer b.close()
	var h profile.HostSample
	b.look(&h)
	time.Sleep(examinePause)
	b.look(&h)
	r.Fabric = len(b.fabric.all) > 0 || b.fabric.missing == profile.NoPermission
	byReason := map[string][]string{}
	for m := range profile.NumHostMetrics {
		switch why := h.Why[m]; {
		case why == profile.Known:
			r.Measured = append(r.Measured, m.String())
		case r.Fabric || m != profile.FabricTx && m != profile.FabricRx && m != profile.FabricErrors && m != profile.FabricPeak:
			byReason[why.String()] = append(byReason[why.String()], m.String())
		}
	}
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(byReason)) {
		parts = append(parts, why+": "+strings.Join(byReason[why], ", "))
	}
	r.Missing = strings.Join(parts, "; ")
	return r, true
}

const examinePause = 200 * time.Millisecond
