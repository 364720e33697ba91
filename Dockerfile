# Prosa in a container: docker build -t prosa . && docker run --rm -v "$PWD:/work:ro" prosa check
FROM python:3.13-slim AS build
WORKDIR /src
COPY dist/*.whl /src/
RUN python -m venv /opt/prosa \
    && /opt/prosa/bin/pip install --no-cache-dir --disable-pip-version-check /src/*.whl

FROM python:3.13-slim
LABEL org.opencontainers.image.title="Prosa" org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/prosa /opt/prosa
ENV PATH=/opt/prosa/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PROSA_CACHE_DIR=/cache
RUN mkdir /cache && chown 65532:65532 /cache
USER 65532:65532
WORKDIR /work
VOLUME ["/cache"]
ENTRYPOINT ["prosa"]
CMD ["--help"]
