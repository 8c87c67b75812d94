package profile

import (
	"fmt"
	"strconv"
	"strings"
)

// OpenMetrics returns a tick of a box in OpenMetrics 1.0. A missing value has no line, so that a
// scraper does not see 0.
func (t *Tick) OpenMetrics(host string) string {
	var b strings.Builder
	for m, d := range Metrics {
		name, kind, suffix := "capcli_gpu_"+d.Name, "gauge", ""
		if d.Counter {
			kind, suffix = "counter", "_total"
		}
		headed := false
		for i := range t.Samples {
			s := &t.Samples[i]
			v, ok := s.Get(Metric(m))
			if !ok {
				continue
			}
			if !headed {
				fmt.Fprintf(&b, "# TYPE %s %s\n# HELP %s %s\n", name, kind, name, expositionEscapes.Replace(d.Doc))
				headed = true
			}
			fmt.Fprintf(&b, "%s%s{%s} %s\n", name, suffix, s.Device.openMetricsLabels(host), strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	b.WriteString("# TYPE capcli_gpu_held gauge\n# HELP capcli_gpu_held processes that hold the GPU\n")
	for i := range t.Samples {
		d := t.Samples[i].Device
		n := 0
		for k := range t.Processes {
			if t.Processes[k].Device.UUID == d.UUID {
				n++
			}
		}
		fmt.Fprintf(&b, "capcli_gpu_held{%s} %d\n", d.openMetricsLabels(host), n)
	}
	fmt.Fprintf(&b, "# TYPE capcli_profile_read_seconds gauge\n# UNIT capcli_profile_read_seconds seconds\n# HELP capcli_profile_read_seconds time that the last look at the GPUs took\ncapcli_profile_read_seconds %s\n# EOF\n",
		strconv.FormatFloat(t.Took.Seconds(), 'f', -1, 64))
	return b.String()
}

// openMetricsLabels returns the labels of the metrics of a device.
func (d *Device) openMetricsLabels(host string) string {
	text := fmt.Sprintf(`host="%s",gpu="%d",uuid="%s",model="%s"`, expositionEscapes.Replace(host), d.Index, expositionEscapes.Replace(d.UUID), expositionEscapes.Replace(d.Model))
	if d.MIG() {
		text += fmt.Sprintf(`,mig_profile="%s",gi="%d"`, expositionEscapes.Replace(d.Profile), d.GI)
	}
	return text
}

// expositionEscapes are the escapes of OpenMetrics, the same in labels and in help texts.
var expositionEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
