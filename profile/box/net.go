package box

import (
	"io/fs"
	"slices"
	"strings"
	"time"

	"capcli/profile"
)

const (
	// scanEvery is the time between looks for interfaces and ports that came or went.
	scanEvery = 30 * time.Second
	// errorsEvery is the time between looks at counters of errors, of which there are many.
	errorsEvery = 5 * time.Second
	mostDevices = 1024
)

// adapter is a network interface or a port of the fabric.
type adapter struct {
	name           string
	tx, rx         kept
	sent, received tally
	looked         bool
	unit           float64 // bytes of a count
	most           float64 // counts a second at most; 0 is not known
	wide           bool    // counters have 64 bits
	speed          float64 // bytes a second in one direction; 0 where it is down, under 0 where it is not known
	errors         []kept
	counted        []tally
}

func (a *adapter) close() {
	a.tx.close()
	a.rx.close()
	for i := range a.errors {
		a.errors[i].close()
	}
}

// links are the adapters of a kind.
type links struct {
	all     []*adapter
	lost    bool // an adapter could not be read: look for adapters again
	scanned bool
	scanAt  time.Duration
	errorAt time.Duration
	errors  total
	why     profile.Reason // why there are no counters of errors
	missing profile.Reason // why there are no adapters
}

// scan looks for adapters where that is due. names are those that there are, meet makes one, and speed
// tells what it carries.
func (l *links) scan(now time.Duration, names func() ([]string, profile.Reason), meet func(name string) *adapter, speed func(name string) float64) {
	if l.scanned && now < l.scanAt && !l.lost {
		return
	}
	l.scanned, l.scanAt, l.lost = true, now+scanEvery, false
	there, why := names()
	l.missing = why
	var all []*adapter
	for _, name := range there {
		if len(all) == mostDevices {
			break
		}
		var a *adapter
		if i := slices.IndexFunc(l.all, func(a *adapter) bool { return a.name == name }); i >= 0 {
			a = l.all[i]
		} else {
			a = meet(name)
		}
		a.speed = speed(name)
		all = append(all, a)
	}
	for _, a := range l.all {
		if !slices.Contains(all, a) {
			a.close()
		}
	}
	l.all = all
}

// peak returns what the adapters that are up carry, in MiB/s.
func (l *links) peak() (float64, profile.Reason) {
	sum := 0.0
	for _, a := range l.all {
		if a.speed < 0 {
			return 0, profile.Unsupported
		}
		sum += a.speed
	}
	return sum / mib, profile.Known
}

// readLinks sets the rates, the errors and the peak of the adapters l.
func (b *box) readLinks(h *profile.HostSample, l *links, tx, rx, errs, peak profile.HostMetric) {
	most, why := l.peak()
	set(h, peak, most, l.reason(why))
	var sent, received flow
	for _, a := range l.all {
		there := a.sent.ready
		v, why := b.rateOf(&a.tx, &a.sent, a)
		sent.add(v*a.unit, why, a.looked)
		v, why = b.rateOf(&a.rx, &a.received, a)
		received.add(v*a.unit, why, a.looked)
		l.lost = l.lost || there && !a.sent.ready
		a.looked = true
	}
	v, why := sent.rate()
	set(h, tx, v, l.reason(why))
	v, why = received.rate()
	set(h, rx, v, l.reason(why))
	if now := b.now(); !l.errors.begun || now >= l.errorAt {
		l.errorAt = now + errorsEvery - errorsEvery/16
		b.countErrors(l)
	}
	set(h, errs, l.errors.sum, l.reason(l.why))
}

// reason returns why the figures of the adapters are missing, where why says what their files told.
func (l *links) reason(why profile.Reason) profile.Reason {
	if len(l.all) == 0 {
		return max(l.missing, profile.Unsupported)
	}
	return why
}

func (b *box) rateOf(k *kept, t *tally, a *adapter) (float64, profile.Reason) {
	text, why := b.read(k)
	if why != profile.Known {
		t.ready = false
		return 0, why
	}
	n, _, ok := number(text)
	switch {
	case !ok:
		return 0, profile.Failed
	case n >= narrow:
		a.wide = true
	}
	if a.wide {
		return t.take(n, b.now())
	}
	return t.takeNarrow(n, b.now(), a.most)
}

// countErrors adds up what the counters of errors counted since the last look.
func (b *box) countErrors(l *links) {
	l.why = profile.Unsupported
	for _, a := range l.all {
		for i := range a.errors {
			text, why := b.read(&a.errors[i])
			n, _, ok := number(text)
			if why != profile.Known || !ok {
				if l.why == profile.Unsupported && why != profile.Known {
					l.why = why
				}
				continue
			}
			l.errors.grow(&a.counted[i], n)
			l.why = profile.Known
		}
	}
	l.errors.begun = true
}

// adapterOf returns an adapter whose files are in dir.
func adapterOf(name, dir, tx, rx string, errs []string) *adapter {
	a := &adapter{name: name, tx: keep(dir + tx), rx: keep(dir + rx), unit: 1, wide: true}
	for _, e := range errs {
		a.errors = append(a.errors, keep(dir+e))
	}
	a.counted = make([]tally, len(a.errors))
	return a
}

// netErrors are the counters of packets dropped or faulty
// (Documentation/ABI/testing/sysfs-class-net-statistics).
var netErrors = []string{"rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "rx_missed_errors"}

const netDir = "sys/class/net/"

// readNet reads the network interfaces that are hardware.
func (b *box) readNet(h *profile.HostSample) {
	b.net.scan(b.now(), b.interfaces, func(name string) *adapter {
		return adapterOf(name, netDir+name+"/statistics/", "tx_bytes", "rx_bytes", netErrors)
	}, b.netSpeed)
	b.readLinks(h, &b.net, profile.NetTx, profile.NetRx, profile.NetErrors, profile.NetPeak)
}

// netSpeed returns the bytes a second that an interface carries: 0 where it is down, under 0 where it does
// not tell, as most virtual ones. The file has Mbit/s (Documentation/ABI/testing/sysfs-class-net).
func (b *box) netSpeed(name string) float64 {
	if b.text(netDir+name+"/operstate") == "down" {
		return 0
	}
	mbit, _, ok := number([]byte(b.text(netDir + name + "/speed")))
	if !ok || mbit == 0 || mbit > 1<<24 {
		return -1
	}
	return float64(mbit) * 1e6 / 8
}

// interfaces returns the names of the interfaces that count, in order.
func (b *box) interfaces() ([]string, profile.Reason) {
	entries, err := fs.ReadDir(b.root, strings.TrimSuffix(netDir, "/"))
	if err != nil {
		return nil, reasonOf(err)
	}
	var names []string
	for _, e := range entries {
		if b.isPhysical(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, profile.Known
}

// ipoib is the type of an interface of IP over InfiniBand (ARPHRD_INFINIBAND of linux/if_arp.h).
const ipoib = "32"

// isPhysical reports whether an interface is hardware whose traffic nothing else counts.
func (b *box) isPhysical(name string) bool {
	dir := netDir + name
	if !b.has(dir+"/device") || b.text(dir+"/type") == ipoib || b.has(dir+"/master/device") {
		return false
	}
	port := b.text(dir + "/phys_port_name") // "pf0vf3" stands for a virtual function, "pf0sf88" for a subfunction
	return !strings.HasPrefix(port, "pf") && !strings.HasPrefix(port, "c1pf") || !strings.Contains(port, "vf") && !strings.Contains(port, "sf")
}
