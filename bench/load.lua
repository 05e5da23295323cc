-- The load that wrk makes: webhooks are called with a JSON body, or something
-- is read without one. Arguments: a file with a token on each line, the size of
-- the body (0 for a GET without one), the Authorization header (may be empty),
-- other headers, one on each line (may be empty). Behind a token that ends with = comes a number
-- that no other call has.

function init(args)
  local tokens = {}
  for token in io.lines(args[1]) do
    tokens[#tokens + 1] = token
  end
  local number = "100000"
  local size = tonumber(args[2])
  if size > 0 then
    local frame = '{"data":"","number":' .. number .. '}'
    local filler = string.rep("x", size - #frame)
    wrk.method = "POST"
    wrk.headers["Content-Type"] = "application/json"
    wrk.body = '{"data":"' .. filler .. '","number":' .. number .. '}'
  end
  if args[3] and args[3] ~= "" then
    wrk.headers["Authorization"] = args[3]
  end
  if args[4] and args[4] ~= "" then
    for name, value in args[4]:gmatch("([^\n]-): ([^\n]*)") do
      wrk.headers[name] = value
    end
  end
  local path = wrk.path
  if #tokens == 1 and tokens[1]:sub(-1) == "=" then
    request = count(wrk.format(nil, path .. tokens[1] .. "#"))
  elseif #tokens == 1 then
    wrk.path = path .. tokens[1] -- one request for all calls: wrk's cheapest way
  else
    request = cycle(wrk.format(nil, path .. "#"), size > 0 and #number + 1 or 0, tokens)
  end
end

-- count gives a function that puts a new number in place of the # of a request.
function count(template)
  local hash = template:find("#", 1, true)
  local head, tail = template:sub(1, hash - 1), template:sub(hash + 1)
  math.randomseed(os.time())
  local run, n = math.random(1000000000), 0
  return function()
    n = n + 1
    return head .. run .. "-" .. n .. tail
  end
end

-- cycle gives a function that puts the next token in place of the # of a
-- request, from a random one on: a short run must not always meet the first.
-- The end of the body becomes a number of its own for each line of the file:
-- Lua keeps equal strings once, so loads cost wrk the same, however many of
-- their tokens are equal, only if no two requests are. Without a body there is
-- no such number, and its length is 0.
function cycle(template, numberLength, tokens)
  local hash = template:find("#", 1, true)
  local head, tail = template:sub(1, hash - 1), template:sub(hash + 1, -numberLength - 1)
  local ends = {}
  for i = 1, #tokens do
    ends[i] = numberLength > 0 and (99999 + i) .. "}" or ""
  end
  math.randomseed(os.time())
  local at = math.random(#tokens)
  return function()
    at = at % #tokens + 1
    return head .. tokens[at] .. tail .. ends[at]
  end
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('\n{"requests":%d,"seconds":%f,"p50":%f,"p99":%f,"max":%f,"failed":%d}\n',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3,
    e.connect + e.read + e.write + e.status + e.timeout))
end
