package kv

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Limits is one worker's admission, stage by stage as SGLang's:
//
//	http       a prompt longer than the context is refused
//	intake     a prompt of max_req_input_len tokens or more is refused and a placeholder stands in for it; with
//	           allow_auto_truncate it is cut to the longest length that is not refused instead
//	bootstrap to reserve   a prompt larger than the pool is refused
//
// It judges the length it is told. Once a placeholder stands in, that length is one token, and only the pending refusal
// says what really happened (public report sglang 30233): so a pending refusal is handed on as it is.
type Limits struct {
	contextTokens, poolTokens, inputTokens int
	truncate                               bool
}

var _ port.Admission = Limits{}

// NewLimits derives a worker's limits from its configuration.
func NewLimits(w config.Worker) Limits {
	return Limits{
		contextTokens: w.ContextLength, poolTokens: w.MaxTotalNumTokens, inputTokens: w.MaxInputTokens(),
		truncate: w.AllowAutoTruncate,
	}
}

// At answers for one stage. A stand-in once asked for stays; a truncation is handed on only until it has been done.
func (l Limits) At(stage wire.Stage, request port.Request, pending port.Verdict) port.Verdict {
	if pending.Refused {
		return pending
	}
	if request.Tokens <= pending.TruncateTo {
		pending.TruncateTo = 0
	}
	refuse := func(standIn bool, format string, values ...any) port.Verdict {
		return port.Verdict{
			Refused: true, StandIn: standIn || pending.StandIn, Stage: stage, Reason: fmt.Sprintf(format, values...),
		}
	}
	tokens := request.Tokens
	switch stage {
	case wire.AtHTTP:
		if tokens < 1 {
			return refuse(false, "the prompt is empty")
		}
		if tokens > l.contextTokens && !l.truncate {
			return refuse(false, "the prompt has %d tokens, more than the model's context length of %d",
				tokens, l.contextTokens)
		}
	case wire.AtIntake:
		if tokens < 1 {
			return refuse(false, "the prompt is empty")
		}
		if tokens < l.inputTokens {
			break
		}
		if longest := l.inputTokens - 1; l.truncate && longest > 0 {
			pending.TruncateTo = longest
			return pending
		}
		return refuse(true, "the prompt has %d tokens; this worker takes fewer than %d (max_req_input_len): "+
			"send a shorter one, or start it with allow_auto_truncate", tokens, l.inputTokens)
	case wire.AtBootstrap, wire.AtWaiting, wire.AtForward, wire.AtReserve:
		if tokens > l.poolTokens {
			return refuse(false, "the prompt has %d tokens, more than the KV pool holds (max_total_num_tokens %d)",
				tokens, l.poolTokens)
		}
	case wire.AtEdge, wire.AtCommit, wire.AtTransfer: // The router has limits of its own; the others hold the pages.
	}
	return pending
}
