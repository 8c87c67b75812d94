package box

import (
	"io/fs"
	"strconv"
	"strings"

	"capcli/profile"
)

// fabricErrors are the counters of errors of a port, and of the times that its link went down
// (Documentation/ABI/stable/sysfs-class-infiniband).
var fabricErrors = []string{
	"symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors", "port_rcv_remote_physical_errors",
	"local_link_integrity_errors", "excessive_buffer_overrun_errors", "port_xmit_discards",
}

const fabricDir = "sys/class/infiniband/"

// fourBytes is the unit of the counters port_xmit_data and port_rcv_data.
const fourBytes = 4

// readFabric reads the ports of InfiniBand, RoCE and EFA adapters.
func (b *box) readFabric(h *profile.HostSample) {
	b.fabric.scan(b.now(), b.ports, b.port, b.portSpeed)
	b.readLinks(h, &b.fabric, profile.FabricTx, profile.FabricRx, profile.FabricErrors, profile.FabricPeak)
}

// portSpeed returns the bytes a second that a port carries: 0 where it is not active, under 0 where it
// does not tell.
func (b *box) portSpeed(name string) float64 {
	if state := b.text(fabricDir + name + "/state"); state != "" && !strings.HasSuffix(state, "ACTIVE") { // "4: ACTIVE", "1: DOWN"
		return 0
	}
	if v := lineRate(b.text(fabricDir + name + "/rate")); v > 0 {
		return v
	}
	return -1
}

// ports returns the ports as ADAPTER/ports/NUMBER, in order.
func (b *box) ports() ([]string, profile.Reason) {
	entries, err := fs.ReadDir(b.root, strings.TrimSuffix(fabricDir, "/"))
	if err != nil {
		return nil, reasonOf(err)
	}
	var names []string
	for _, e := range entries {
		ports, err := fs.ReadDir(b.root, fabricDir+e.Name()+"/ports")
		if err != nil {
			continue // the adapter went away
		}
		for _, p := range ports {
			names = append(names, e.Name()+"/ports/"+p.Name())
		}
	}
	return names, profile.Known
}

// port returns a port. Its counters are in counters_ext where an old driver has them with 64 bits
// there, in hw_counters for EFA, else in counters, with 64 or, on old adapters, 32 bits.
func (b *box) port(name string) *adapter {
	dir := fabricDir + name + "/"
	ext, efa := dir+"counters_ext/port_xmit_data_64", dir+"hw_counters/tx_bytes"
	var a *adapter
	switch {
	case b.has(ext):
		a = adapterOf(name, dir, "counters_ext/port_xmit_data_64", "counters_ext/port_rcv_data_64", nil)
		a.unit = fourBytes
	case !b.has(dir+"counters/port_xmit_data") && b.has(efa):
		return adapterOf(name, dir, "hw_counters/tx_bytes", "hw_counters/rx_bytes", []string{"hw_counters/rx_drops"})
	default:
		a = adapterOf(name, dir, "counters/port_xmit_data", "counters/port_rcv_data", nil)
		a.unit, a.wide = fourBytes, false
		a.most = lineRate(b.text(dir+"rate")) / fourBytes
	}
	for _, e := range fabricErrors {
		a.errors = append(a.errors, keep(dir+"counters/"+e))
	}
	a.counted = make([]tally, len(a.errors))
	return a
}

// lineRate returns the bytes a second that a port carries, of text such as "400 Gb/sec (4X NDR)"; 0
// where it is not known.
func lineRate(text string) float64 {
	number, _, ok := strings.Cut(text, " Gb/sec")
	v, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(v > 0 && v < 1e6) {
		return 0
	}
	return v * 1e9 / 8
}
