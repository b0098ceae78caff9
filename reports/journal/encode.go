package journal

import (
	"encoding/hex"
	"strconv"
	"unicode/utf8"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// AppendEvent appends the journal's one spelling of e to dst: a JSON object without newline, ASCII only. Fields that
// are zero are left out; stage, buffer and holdings stand wherever the kind uses them, since their zero is a name.
// It keeps no part of e. An empty list is spelled as an absent one, and reads back as nil.
func AppendEvent(dst []byte, e *event.Event) []byte {
	dst = append(dst, `{"kind":"`...)
	dst = append(dst, e.Kind.String()...)
	dst = append(dst, '"')
	dst = appendSigned(dst, `,"tick":`, int64(e.Tick))
	dst = appendAddr(dst, `,"source":"`, e.Source)
	dst = appendUnsigned(dst, `,"room":`, uint64(e.Room))
	dst = appendAddr(dst, `,"peer":"`, e.Peer)
	dst = appendSigned(dst, `,"tenant":`, int64(e.Tenant))
	dst = appendSigned(dst, `,"request":`, int64(e.Request))
	dst = appendSigned(dst, `,"tokens":`, int64(e.Tokens))
	dst = appendSigned(dst, `,"max_new_tokens":`, int64(e.MaxNewTokens))
	dst = appendSigned(dst, `,"first":`, int64(e.First))
	dst = appendSigned(dst, `,"count":`, int64(e.Count))
	dst = appendSigned(dst, `,"bytes":`, e.Bytes)
	dst = appendSigned(dst, `,"status":`, int64(e.Status))
	dst = appendSigned(dst, `,"slot":`, int64(e.Slot))
	dst = appendUnsigned(dst, `,"generation":`, uint64(e.Generation))
	if e.Stage != 0 || usesStage(e.Kind) {
		dst = append(dst, `,"stage":"`...)
		dst = append(dst, e.Stage.String()...)
		dst = append(dst, '"')
	}
	if e.Buffer != 0 || usesBuffer(e.Kind) {
		dst = append(dst, `,"buffer":"`...)
		dst = append(dst, e.Buffer.String()...)
		dst = append(dst, '"')
	}
	if e.Flag {
		dst = append(dst, `,"flag":true`...)
	}
	dst = appendTexts(dst, e)
	dst = appendLists(dst, e)
	return append(dst, '}')
}

func usesStage(k event.Kind) bool { return k == event.RefusalRecorded || k == event.RequestRejected }

func usesBuffer(k event.Kind) bool { return k >= event.WritePosted && k <= event.WriteEnded }

func appendTexts(dst []byte, e *event.Event) []byte {
	dst = appendText(dst, `,"guard":"`, e.Guard)
	dst = appendText(dst, `,"fault":"`, e.Fault)
	dst = appendText(dst, `,"reason":"`, e.Reason)
	dst = appendText(dst, `,"before":"`, e.Before)
	dst = appendText(dst, `,"after":"`, e.After)
	return appendText(dst, `,"text":"`, e.Text)
}

func appendLists(dst []byte, e *event.Event) []byte {
	if e.Hash != ([32]byte{}) {
		dst = append(dst, `,"hash":"`...)
		dst = hex.AppendEncode(dst, e.Hash[:])
		dst = append(dst, '"')
	}
	if len(e.Pages) > 0 {
		dst = append(dst, `,"pages":"`...)
		dst = appendPages(dst, e.Pages)
		dst = append(dst, '"')
	}
	if len(e.Output) > 0 {
		dst = append(dst, `,"output":[`...)
		for _, t := range e.Output {
			dst = strconv.AppendUint(dst, uint64(t), 10)
			dst = append(dst, ',')
		}
		dst[len(dst)-1] = ']'
	}
	if len(e.Samples) > 0 {
		dst = appendSamples(dst, e)
	}
	if len(e.Spans) > 0 {
		dst = append(dst, `,"spans":[`...)
		for _, s := range e.Spans {
			dst = append(dst, '[')
			dst = strconv.AppendInt(dst, int64(s.Tenant), 10)
			dst = append(dst, ',')
			dst = strconv.AppendInt(dst, int64(s.First), 10)
			dst = append(dst, ',')
			dst = strconv.AppendInt(dst, int64(s.Count), 10)
			dst = append(dst, ']', ',')
		}
		dst[len(dst)-1] = ']'
	}
	if e.Digests[0] != nil || e.Digests[1] != nil || e.Digests[2] != nil || e.Digests[3] != nil {
		dst = appendDigests(dst, &e.Digests)
	}
	if e.Kind == event.WorkerQuiesced || e.Holdings != (event.Holdings{}) {
		dst = appendHoldings(dst, e.Holdings)
	}
	return dst
}

// appendSamples spells the samples by column. The rooms column is left out when every sample is of the event's own
// room, and has one entry when every sample is of one other room: the common case, a decode step of one request.
func appendSamples(dst []byte, e *event.Event) []byte {
	samples := e.Samples
	dst = append(dst, `,"samples":{`...)
	if rooms := samples[:roomsListed(e)]; len(rooms) > 0 {
		dst = append(dst, `"rooms":[`...)
		for i := range rooms {
			dst = strconv.AppendUint(dst, uint64(rooms[i].Room), 10)
			dst = append(dst, ',')
		}
		dst[len(dst)-1] = ']'
		dst = append(dst, ',')
	}
	dst = append(dst, `"positions":[`...)
	for i := range samples {
		dst = strconv.AppendInt(dst, int64(samples[i].Position), 10)
		dst = append(dst, ',')
	}
	dst = append(dst[:len(dst)-1], `],"tokens":[`...)
	for i := range samples {
		dst = strconv.AppendUint(dst, uint64(samples[i].Token), 10)
		dst = append(dst, ',')
	}
	dst = append(dst[:len(dst)-1], `],"pages":[`...)
	for i := range samples {
		dst = strconv.AppendInt(dst, int64(samples[i].Page), 10)
		dst = append(dst, ',')
	}
	dst = append(dst[:len(dst)-1], `],"slots":[`...)
	for i := range samples {
		dst = strconv.AppendInt(dst, int64(samples[i].Slot), 10)
		dst = append(dst, ',')
	}
	dst = append(dst[:len(dst)-1], `],"scores":[`...)
	for i := range samples {
		dst = strconv.AppendInt(dst, int64(samples[i].Score), 10)
		dst = append(dst, ',')
	}
	return append(dst[:len(dst)-1], "]}"...)
}

// roomsListed is how many entries the rooms column of e has: 0, 1 or one a sample.
func roomsListed(e *event.Event) int {
	first := e.Samples[0].Room
	for i := range e.Samples {
		if e.Samples[i].Room != first {
			return len(e.Samples)
		}
	}
	if first == e.Room {
		return 0
	}
	return 1
}

// appendDigests spells one string a buffer, each sum as 16 hexadecimal digits.
func appendDigests(dst []byte, digests *[wire.KVBuffers][]uint64) []byte {
	const digits = "0123456789abcdef"
	start := len(dst)
	dst = append(dst, `,"digests":[`...)
	any := false
	for b := range digests {
		dst = append(dst, '"')
		for i, sum := range digests[b] {
			any = true
			if i > 0 {
				dst = append(dst, ' ')
			}
			for shift := 60; shift >= 0; shift -= 4 {
				dst = append(dst, digits[sum>>shift&15])
			}
		}
		dst = append(dst, '"', ',')
	}
	if !any {
		return dst[:start]
	}
	dst[len(dst)-1] = ']'
	return dst
}

func appendHoldings(dst []byte, h event.Holdings) []byte {
	dst = append(dst, `,"holdings":{"pages_free":`...)
	dst = strconv.AppendInt(dst, int64(h.PagesFree), 10)
	dst = append(dst, `,"pages_capacity":`...)
	dst = strconv.AppendInt(dst, int64(h.PagesCapacity), 10)
	dst = append(dst, `,"pages_quarantined":`...)
	dst = strconv.AppendInt(dst, int64(h.PagesQuarantined), 10)
	dst = append(dst, `,"slots_free":`...)
	dst = strconv.AppendInt(dst, int64(h.SlotsFree), 10)
	dst = append(dst, `,"slots_capacity":`...)
	dst = strconv.AppendInt(dst, int64(h.SlotsCapacity), 10)
	dst = append(dst, `,"slots_quarantined":`...)
	dst = strconv.AppendInt(dst, int64(h.SlotsQuarantined), 10)
	dst = append(dst, `,"requests":`...)
	dst = strconv.AppendInt(dst, int64(h.Requests), 10)
	dst = append(dst, `,"outstanding":`...)
	dst = strconv.AppendInt(dst, int64(h.Outstanding), 10)
	return append(dst, '}')
}

func appendSigned(dst []byte, key string, value int64) []byte {
	if value == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, key...), value, 10)
}

func appendUnsigned(dst []byte, key string, value uint64) []byte {
	if value == 0 {
		return dst
	}
	return strconv.AppendUint(append(dst, key...), value, 10)
}

func appendAddr(dst []byte, key string, a wire.Addr) []byte {
	if a == (wire.Addr{}) {
		return dst
	}
	dst, _ = a.AppendText(append(dst, key...)) // never fails
	return append(dst, '"')
}

func appendText(dst []byte, key, text string) []byte {
	if text == "" {
		return dst
	}
	return append(appendEscaped(append(dst, key...), text), '"')
}

// appendEscaped spells any Go string in ASCII, losing nothing: what a target said may hold terminal escapes, text
// directions and bytes that are no UTF-8. Such a byte becomes the lone surrogate \udcXX, as Python's surrogateescape
// has it, so that a line stays valid JSON.
func appendEscaped(dst []byte, text string) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
			i++
		case c >= ' ' && c < 0x7f:
			dst = append(dst, c)
			i++
		case c < utf8.RuneSelf:
			dst = appendUnit(dst, uint32(c))
			i++
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				dst = appendUnit(dst, 0xdc00|uint32(c))
			case r >= 0x10000:
				dst = appendUnit(dst, 0xd800|uint32(r-0x10000)>>10)
				dst = appendUnit(dst, 0xdc00|uint32(r-0x10000)&0x3ff)
			default:
				dst = appendUnit(dst, uint32(r))
			}
			i += size
		}
	}
	return dst
}

// appendUnit spells one UTF-16 code unit as \uXXXX.
func appendUnit(dst []byte, unit uint32) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[unit>>12&15], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
}
